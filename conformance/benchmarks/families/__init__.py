"""What compare_families.py compares: families of cases, by name."""

from . import linalg, network, search

# The families that are compared unless others are named.
MAIN = {
    "pooling": network.pooling,
    "upsampling": network.upsampling,
    "batch_norm": network.batch_norm,
    "fft": linalg.transforms,
    "factors": linalg.factors,
    "lstm": network.recurrent,
    "sparse": linalg.sparse_products,
    "unique": search.unique,
    "median": search.median,
    "cdist": search.cdist,
}

OTHERS = {
    "sampling": network.sampling,
    "norms": network.other_norms,
    "bags": network.bags,
    "counting": search.counting,
    "other_factors": linalg.other_factors,
}
