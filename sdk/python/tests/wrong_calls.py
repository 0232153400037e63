"""Wrong calls and what is said of them, for texts_test.py.

A row has the call; the argument that is wrong, what was found and what was expected, which the text
has each; and the text's first line, or its beginning where the rest is about this machine. In the
calls a is f32[4, 5], b f32[3, 4], i i64[2], x f32[1, 3, 8, 8] and w f32[4, 3, 3, 3]."""

from typing import NamedTuple


class Call(NamedTuple):
    source: str
    argument: str
    found: str
    expected: str
    text: str


CALLS = [
    Call("ops.softmax(a, 3)", "dim", "3",
         "[-2, 1]",
         "softmax.int: Dimension out of range (expected to be in range of [-2, 1], but got 3) in"
         " argument 'dim'"),
    Call("ops.sum(a, [2])", "dim", "2",
         "[-2, 1]",
         "sum.dim_IntList: Dimension out of range (expected to be in range of [-2, 1], but got "
         "2) in argument 'dim'"),
    Call("ops.sum(a, [0, 0])", "dim", "[0, 0]",
         "at most once",
         "sum.dim_IntList: dim 0 appears multiple times in the list of dims; expected each at "
         "most once"),
    Call("ops.unsqueeze(a, 7)", "dim", "7",
         "[-3, 2]",
         "unsqueeze: Dimension out of range (expected to be in range of [-3, 2], but got 7) in "
         "argument 'dim'"),
    Call("ops.transpose(a, 0, 2)", "dim1", "2",
         "[-2, 1]",
         "transpose.int: Dimension out of range (expected to be in range of [-2, 1], but got 2) "
         "in argument 'dim1'"),
    Call("ops.flip(a, [3])", "dims", "3",
         "[-2, 1]",
         "flip: Dimension out of range (expected to be in range of [-2, 1], but got 3) in "
         "argument 'dims'"),
    Call("ops.permute(a, [0, 0])", "dims", "0",
         "each of the 2 dimensions once",
         "permute: duplicate dims are not allowed. Found dim 0 twice; expected each of the 2 "
         "dimensions once"),
    Call("ops.flatten(a, 1, 0)", "start_dim", "1",
         "start_dim cannot come after end_dim",
         "flatten.using_ints: has invalid args: start_dim cannot come after end_dim; found 1 and"
         " 0 of 2 dimensions"),
    Call("ops.topk(a, 9)", "k", "9",
         "expected 0 to 5",
         "topk: selected index k out of range; found k 9, expected 0 to 5, the size of dimension"
         " 1"),
    Call("ops.kthvalue(a, 9)", "k", "9",
         "expected 1 to its size",
         "kthvalue: selected number k out of range for dimension 1; found k 9, expected 1 to its"
         " size"),
    Call("ops.narrow(a, 0, 3, 5)", "length", "5",
         "dimension size (4)",
         "narrow: start (3) + length (5) exceeds dimension size (4)."),
    Call("ops.narrow(a, 0, 0, -1)", "length", "-1",
         "non-negative",
         "narrow: length must be non-negative. Found length -1"),
    Call("ops.split(a, [1, 1], 0)", "split_size", "[1, 1]",
         "sum exactly to 4",
         "split.sizes: split_with_sizes expects split_sizes to sum exactly to 4 (input tensor's "
         "size at dimension 0), but got split_sizes=[1, 1]"),
    Call("ops.stack([a, b])", "tensors", "[3, 4] at entry 1",
         "equal size",
         "stack: expects each tensor to be equal size, but got [4, 5] at entry 0 and [3, 4] at "
         "entry 1"),
    Call("ops.cat([])", "tensors", "[]",
         "non-empty",
         "cat: expected a non-empty list of Tensors"),
    Call("ops.cat([a, b])", "tensors", "size 4",
         "Expected size 5",
         "cat: Sizes of tensors must match except in dimension 0. Expected size 5 but got size 4"
         " for tensor number 1 in the list."),
    Call("ops.add(b, ops.ones([5]))", "other", "[5]",
         "equal or 1",
         "add.Tensor: The size of tensor a (4) must match the size of tensor b (5) at non-"
         "singleton dimension 1; 'self' has shape [3, 4] and 'other' has shape [5]; expected "
         "sizes that are equal or 1, counted from the last dimension"),
    Call("ops.where(a > 0, a, b)", "other", "[3, 4]",
         "equal or 1",
         "where.self: The size of tensor a (5) must match the size of tensor b (4) at non-"
         "singleton dimension 1; 'condition' has shape [4, 5] and 'other' has shape [3, 4]; "
         "expected sizes that are equal or 1, counted from the last dimension"),
    Call("ops.add_(ops.ones([5]), a)", "self", "[5]",
         "broadcast shape [4, 5]",
         "add_.Tensor: output with shape [5] doesn't match the broadcast shape [4, 5]"),
    Call("ops.expand(a, [3, 7])", "size", "[3, 7]",
         "must match the existing size (4)",
         "expand: The expanded size of the tensor (3) must match the existing size (4) at non-"
         "singleton dimension 0.  Target sizes: [3, 7].  Tensor sizes: [4, 5]"),
    Call("ops.where(a, a, a)", "condition", "Float",
         "boolean",
         "where.self: expected condition to be a boolean tensor, but got a tensor with dtype "
         "Float"),
    Call("ops.bitwise_and(a, a)", "self", "'Float'",
         "expected one of u8",
         "bitwise_and.Tensor: \"bitwise_and\" not implemented for 'Float'; expected one of u8, i8,"
         " i16, i32, i64, bool, u16, u32, u64"),
    Call("ops.softmax(i, 0)", "self", "'Long'",
         "expected one of f16",
         "softmax.int: \"softmax_lastdim_kernel_impl\" not implemented for 'Long'; expected one of"
         " f16, f32, f64, bf16"),
    Call("ops.mean(i)", "self", "Long",
         "floating point or complex",
         "mean: could not infer output dtype. Input dtype must be either a floating point or "
         "complex dtype. Got: Long"),
    Call("ops.add_(i, ops.ones([2]))", "self", "Long",
         "tensor of f32",
         "add_.Tensor: result type Float can't be cast to the desired output type Long; expected"
         " a tensor of f32, or arguments converted to i64, to be written"),
    Call("ops.add(i, i, alpha=1.5)", "alpha", "1.5",
         "must not be a floating point number",
         "add.Tensor: For integral input tensors, argument alpha must not be a floating point "
         "number."),
    Call("ops.mm(a, ops.ones([5, 4], dtype=primset.float64))", "mat2", "double",
         "same dtype",
         "mm: expected m1 and m2 to have the same dtype, but got: float != double; convert one "
         "with to()"),
    Call("ops.div(a, a, rounding_mode='up')", "rounding_mode", "'up'",
         "None, 'trunc', or 'floor'",
         "div.Tensor_mode: expected rounding_mode to be one of None, 'trunc', or 'floor' but "
         "found 'up'"),
    Call("ops.gelu(a, approximate='xx')", "approximate", "'xx'",
         "none or tanh",
         "gelu: approximate argument must be either none or tanh. Found 'xx'"),
    Call("ops.gather(a, 0, ops.ones([2, 2]))", "index", "float32",
         "int32/int64",
         "gather: Expected dtype int32/int64 for index, but got float32"),
    Call("ops.gather(a, 0, primset.tensor([[0, 9]]))", "index", "9",
         "within its size",
         "gather: index 9 of 'index' is out of bounds for dimension 0; expected one within its "
         "size"),
    Call("ops.gather(a, 0, i)", "index", "index has 1",
         "same number of dimensions",
         "gather: Index tensor must have the same number of dimensions as input tensor; index "
         "has 1, self 2"),
    Call("ops.index_select(a, 0, ops.ones([2]))", "index", "float32",
         "int32 or int64",
         "index_select: Expected dtype int32 or int64 for index, but got float32"),
    Call("ops.embedding(a, ops.ones([2]))", "indices", "torch.FloatTensor",
         "Long, Int",
         "embedding: Expected tensor for argument #1 'indices' to have one of the following "
         "scalar types: Long, Int; but got torch.FloatTensor instead (while checking arguments "
         "for embedding)"),
    Call("a[9]", "index", "9",
         "size [4, 5] at dimension 0",
         "select.int: index 9 out of range for tensor of size [4, 5] at dimension 0"),
    Call("ops.index(a, [ops.ones([2])])", "indices", "f32",
         "long, int, byte or bool",
         "index.Tensor: tensors used as indices must be long, int, byte or bool tensors; found "
         "f32 for dimension 0"),
    Call("ops.masked_select(a, a)", "mask", "f32",
         "BoolTensor",
         "masked_select: expected BoolTensor for mask, but got f32"),
    Call("ops.scatter(a, 0, primset.tensor([[0]]), ops.ones([1, 1]), reduce='xx')", "reduce", "'xx'",
         "add or multiply",
         "scatter.reduce: reduce argument must be either add or multiply. Found 'xx'"),
    Call("ops.zeros([-1])", "size", "[-1]",
         "non-negative",
         "zeros: Dimension size must be non-negative. Found size [-1]"),
    Call("ops.ones([2, -3])", "size", "-3",
         "at least 0",
         "ones: Trying to create tensor with negative dimension -3: [-3]; expected sizes of at "
         "least 0"),
    Call("ops.arange(0, 5, -1)", "step", "-1",
         "step sign",
         "arange.start_step: upper bound and lower bound inconsistent with step sign; found "
         "start 0, end 5 and step -1"),
    Call("ops.linspace(0, 1, -1)", "steps", "-1",
         "non-negative",
         "linspace: number of steps must be non-negative; found steps -1"),
    Call("ops.zeros([2**40, 2**40])", "size", "1099511627776",
         "less than 2**63",
         "zeros: a size, stride or offset does not fit 64 bits; expected less than 2**63"),
    Call("ops.repeat(a, [2])", "repeats", "1 repeats",
         "2 dimensions",
         "repeat: Number of dimensions of repeat dims can not be smaller than number of "
         "dimensions of tensor; found 1 repeats for 2 dimensions"),
    Call("ops.dropout(a, 2.0, True)", "p", "2",
         "between 0 and 1",
         "dropout: dropout probability has to be between 0 and 1, but got 2"),
    Call("ops.view(a, [3, 3])", "size", "'[3, 3]'",
         "multiply to 20",
         "view: shape '[3, 3]' is invalid for input of size 20; expected sizes that multiply to "
         "20"),
    Call("ops.view(a, [-1, -1])", "size", "[-1, -1]",
         "at most one -1",
         "view: only one dimension can be inferred; expected at most one -1 in shape [-1, -1]"),
    Call("ops.view(ops.t(a), [20])", "size", "[1, 5]",
         "Use .reshape",
         "view: view size is not compatible with input tensor's size and stride (at least one "
         "dimension spans across two contiguous subspaces). Use .reshape(...) instead. self has "
         "shape [5, 4] and strides [1, 5]"),
    Call("ops.as_strided(a, [9, 9], [9, 1])", "stride", "[9, 1]",
         "storage of size 80",
         "as_strided: setStorage: sizes [9, 9], strides [9, 1], storage offset 0, and itemsize 4"
         " requiring a storage size of 324 are out of bounds for storage of size 80"),
    Call("ops.as_strided(a, [2], [1, 1])", "stride", "2 strides",
         "1 sizes",
         "as_strided: mismatch in length of strides and shape; found 2 strides for 1 sizes"),
    Call("ops.amax(ops.ones([0, 3]), [0])", "dim", "0",
         "non-zero size",
         "amax: Expected reduction dim 0 to have non-zero size."),
    Call("ops.max(ops.ones([0]))", "self", "f32[0]",
         "Specify the reduction dim",
         "max: Expected reduction dim to be specified for input.numel() == 0. Specify the "
         "reduction dim with the 'dim' argument."),
    Call("ops.mm(a, a)", "mat2", "4x5",
         "as many columns",
         "mm: mat1 and mat2 shapes cannot be multiplied (4x5 and 4x5); expected as many columns "
         "of mat1 as mat2 has rows"),
    Call("ops.bmm(a, a)", "mat2", "[4, 5]",
         "3D tensor",
         "bmm: batch1 must be a 3D tensor; found shape [4, 5]"),
    Call("ops.addmm(ops.ones([7]), a, ops.ones([5, 4]))", "self", "7",
         "must match",
         "addmm: The expanded size of the tensor (4) must match the existing size (7) at non-"
         "singleton dimension 1.  Target sizes: [4, 4].  Tensor sizes: [7]"),
    Call("ops.einsum('ij', [a, a])", "tensors", "found 2",
         "expected 1",
         "einsum: more operands were provided than specified in the equation; found 2, expected "
         "1"),
    Call("ops.einsum('i?->i', [a])", "equation", "index 1",
         "[a-zA-Z]",
         "einsum: invalid subscript given at index 1 in the equation string, subscripts must be "
         "in [a-zA-Z]"),
    Call("ops.einsum('ij->k', [a])", "equation", "k",
         "any input operand",
         "einsum: output subscript k does not appear in the equation for any input operand"),
    Call("ops.conv2d(x, ops.ones([4, 2, 3, 3]))", "weight", "3 channels",
         "2 channels",
         "conv2d: Given groups=1, weight of size [4, 2, 3, 3], expected input[1, 3, 8, 8] to "
         "have 2 channels, but got 3 channels instead"),
    Call("ops.conv2d(x, w, stride=[1, 1, 1])", "stride", "[1, 1, 1]",
         "a list of 2 values",
         "conv2d: expected stride to be a single integer value or a list of 2 values to match "
         "the convolution dimensions, but got stride=[1, 1, 1]"),
    Call("ops.conv2d(x, w, padding='full')", "padding", "'full'",
         "'valid' or 'same'",
         "conv2d.padding: Invalid padding string: 'full'; expected 'valid' or 'same'"),
    Call("ops.conv2d(x, w, stride=0)", "stride", "[0, 0]",
         "non-positive stride is not supported",
         "conv2d: non-positive stride is not supported; found stride [0, 0]"),
    Call("ops.pad(a, [1, 1], 'zzz')", "mode", "zzz",
         "constant, reflect, replicate or circular",
         "pad: Unrecognised padding mode zzz; expected constant, reflect, replicate or circular"),
    Call("ops.layer_norm(a, [4])", "normalized_shape", "[4, 5]",
         "[*, 4]",
         "layer_norm: Given normalized_shape=[4], expected input with shape [*, 4], but got "
         "input of size[4, 5]"),
    Call("ops.nll_loss(a, primset.tensor([9, 0, 0, 0]))", "target", "9",
         "a class of input",
         "nll_loss: Target 9 is out of bounds. Expected a class of input, or ignore_index"),
    Call("ops.mse_loss(a, a, 7)", "reduction", "7",
         "0 (none), 1 (mean) or 2 (sum)",
         "mse_loss: reduction is 0 (none), 1 (mean) or 2 (sum), but got 7"),
    Call("ops.mm(a, ops.ones([5, 4]), out=ops.ones([4, 4], dtype=primset.int64))", "out", "long int",
         "float",
         "mm.out: Expected out tensor to have dtype float, but got long int instead"),
    Call("ops.copy_(a, ops.ones([3]))", "src", "[3]",
         "equal or 1",
         "copy_: The size of tensor a (5) must match the size of tensor b (3) at non-singleton "
         "dimension 1; 'self' has shape [4, 5] and 'src' has shape [3]; expected sizes that are "
         "equal or 1, counted from the last dimension"),
    Call("ops.floor_divide(i, 0)", "other", "0",
         "ZeroDivisionError",
         "floor_divide.Scalar: ZeroDivisionError: an integer divisor is 0; expected none, or "
         "floating-point arguments"),
    Call("ops.pow(i, -1)", "exponent", "-1",
         "at least 0",
         "pow.Tensor_Scalar: Integers to negative integer powers are not allowed. Found exponent"
         " -1; expected at least 0, or a floating-point self"),
    Call("ops.zeros([2], device='nosuch')", "device", "nosuch",
         "found: ",
         "zeros: no plugin named nosuch"),
    Call("ops.zeros([2], device='a b')", "device", "'a b'",
         "a plugin's name and an index",
         "zeros: Invalid device string: 'a b'; expected a plugin's name and an index, as in cpu,"
         " vulkan:0 in argument 'device'"),
    Call("ops.zeros([2**70])", "size", "1180591620717411303424",
         "2**63 - 1",
         "zeros: argument 'size' is [1180591620717411303424], which no 64-bit integer holds; "
         "expected -2**63 to 2**63 - 1"),
    Call("ops.softmax(a)", "dim", "softmax(Tensor)",
         "missing value",
         "softmax: is missing value for argument 'dim'"),
    Call("ops.softmax(a, dmi=0)", "dmi", "dmi=int",
         "did you mean 'dim'?",
         "softmax: Unknown keyword argument 'dmi' (did you mean 'dim'?)"),
    Call("ops.softmax(a, 0, dim=0)", "dim", "dim=int",
         "multiple values",
         "softmax: got multiple values for argument 'dim'"),
    Call("ops.softmax(a, 1.0)", "dim", "'float'",
         "'int'",
         "softmax: Expected a value of type 'int' for argument 'dim' but instead found type "
         "'float'"),
    Call("ops.relu(a, a)", "self", "2 were given",
         "1 positional argument",
         "relu: takes 1 positional argument but 2 were given"),
    Call("ops.add(a, 'x')", "other", "'str'",
         "'Scalar' or 'Tensor'",
         "add: Expected a value of type 'Scalar' or 'Tensor' for argument 'other' but instead "
         "found type 'str'"),
    Call("ops.add(a, a, a)", "alpha", "3 were given",
         "2 positional arguments",
         "add: takes 2 positional arguments but 3 were given; 'alpha' can be given by keyword "
         "alone"),
    Call("ops.add(a, a, alhpa=2)", "alhpa", "alhpa=int",
         "did you mean 'alpha'?",
         "add: Unknown keyword argument 'alhpa' (did you mean 'alpha'?)"),
    Call("ops.add.Tensor(a, a, beta=1)", "beta", "beta=int",
         "Scalar alpha=1",
         "add.Tensor: Unknown keyword argument 'beta'"),
    Call("ops.cat([a, None])", "tensors", "List[Tensor, NoneType]",
         "'Tensor[]'",
         "cat: Expected a value of type 'Tensor[]' for argument 'tensors' but instead found type"
         " 'List[Tensor, NoneType]'"),
    Call("ops.zeros([2], dtype='f33')", "dtype", "'str'",
         "'ScalarType?'",
         "zeros: Expected a value of type 'ScalarType?' for argument 'dtype' but instead found "
         "type 'str'"),
    Call("ops.sofmax", "sofmax", "'sofmax'",
         "did you mean 'softmax'?",
         "no operator is called 'sofmax' (did you mean 'softmax'?); `primset ops` lists them"),
    Call("ops.add.Tnsor", "Tnsor", "'add.Tnsor'",
         "did you mean 'add.Tensor'?",
         "no operator is called 'add.Tnsor' (did you mean 'add.Tensor'?); `primset ops` lists "
         "them"),
    Call("primset.invoke('softmax.itn', a, 0)", "softmax.itn", "'softmax.itn'",
         "did you mean 'softmax.int'?",
         "no operator is called 'softmax.itn' (did you mean 'softmax.int'?); `primset ops` lists"
         " them"),
    Call("a.sofmax", "sofmax", "'sofmax'",
         "did you mean 'softmax'?",
         "'Tensor' object has no attribute 'sofmax', and no operator is called 'sofmax' (did you"
         " mean 'softmax'?); `primset ops` lists them"),
    Call("primset.tensor('x')", "tensor", "'str'",
         "numbers or lists",
         "tensor: expected numbers or lists of them, but found type 'str'"),
]
