"""Models of ordinary kinds, with random weights and inputs: what each of them computes is a loss."""

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional


@dataclass
class Training:
    """A step of training without the optimizer's."""

    module: nn.Module
    loss: Callable  # of what the module returns
    inputs: tuple

    def __call__(self):
        """The loss and all gradients by name."""
        loss = self.loss(self.module(*self.inputs))
        loss.backward()
        gradients = {f"the gradient of {n}": p.grad for n, p in self.module.named_parameters()}
        return {"the loss": loss, **gradients}

    def double(self):
        """The same numbers in double."""
        inputs = tuple(x.double() if x.is_floating_point() else x for x in self.inputs)
        return Training(copy.deepcopy(self.module).double(), self.loss, inputs)


def cross_entropy_with(labels):
    return lambda scores: functional.cross_entropy(scores, labels)


# --- ResNet-50 (He et al., Deep Residual Learning for Image Recognition, 2015) ---------------------


class Bottleneck(nn.Module):
    GROWTH = 4

    def __init__(self, channels, width, stride):
        super().__init__()
        out = width * self.GROWTH
        self.body = nn.Sequential(
            nn.Conv2d(channels, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
            nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            nn.Conv2d(width, out, 1, bias=False), nn.BatchNorm2d(out))
        self.shortcut = nn.Identity() if channels == out and stride == 1 else nn.Sequential(
            nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        return functional.relu(self.body(x) + self.shortcut(x))


class ResNet(nn.Module):
    def __init__(self, blocks, width, classes):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width),
                                  nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1))
        stages, channels = [], width
        for i, count in enumerate(blocks):
            for j in range(count):
                stages.append(Bottleneck(channels, width << i, 2 if i and not j else 1))
                channels = (width << i) * Bottleneck.GROWTH
        self.stages = nn.Sequential(*stages)
        self.head = nn.Linear(channels, classes)

    def forward(self, image):
        x = self.stages(self.stem(image))
        return self.head(torch.flatten(functional.adaptive_avg_pool2d(x, 1), 1))


def resnet50(small):
    module = ResNet((1, 1, 1, 1), 4, 10) if small else ResNet((3, 4, 6, 3), 64, 1000)
    return Training(module, cross_entropy_with(torch.tensor([3, 7])), (torch.randn(2, 3, 64, 64),))


# --- U-Net (Ronneberger et al., Convolutional Networks for Biomedical Image Segmentation, 2015) ----


def double_convolution(channels, out):
    return nn.Sequential(
        nn.Conv2d(channels, out, 3, padding=1, bias=False), nn.BatchNorm2d(out), nn.ReLU(),
        nn.Conv2d(out, out, 3, padding=1, bias=False), nn.BatchNorm2d(out), nn.LeakyReLU(0.1))


class UNet(nn.Module):
    """Three levels; goes up by interpolation, to the odd sizes it came from."""

    def __init__(self, width):
        super().__init__()
        self.down = nn.ModuleList([double_convolution(3, width),
                                   double_convolution(width, 2 * width)])
        self.bottom = double_convolution(2 * width, 4 * width)
        self.up = nn.ModuleList([double_convolution(6 * width, 2 * width),
                                 double_convolution(3 * width, width)])
        self.head = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        skipped = []
        for block in self.down:
            skipped.append(block(x))
            x = functional.max_pool2d(skipped[-1], 2)
        x = self.bottom(x)
        for block, mode in zip(self.up, ("bilinear", "nearest")):
            other = skipped.pop()
            x = functional.interpolate(x, other.shape[-2:], mode=mode)
            x = block(torch.cat([other, x], 1))
        return self.head(x)


def unet(small):
    module = UNet(4 if small else 16)
    side = 18 if small else 62
    image, mask = torch.randn(2, 3, side, side), torch.rand(2, 1, side, side) > 0.5

    def loss(scores):
        return functional.binary_cross_entropy_with_logits(scores, mask.to(scores.dtype))

    return Training(module, loss, (image,))


# --- a tagger of sentences -----------------------------------------------------------------------


class Tagger(nn.Module):
    def __init__(self, words, tags, features, hidden):
        super().__init__()
        self.embedding = nn.Embedding(words, features, padding_idx=0)
        self.lstm = nn.LSTM(features, hidden, num_layers=2, bidirectional=True, batch_first=True)
        self.head = nn.Linear(2 * hidden, tags)

    def forward(self, sentences, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(
            self.embedding(sentences), lengths, batch_first=True, enforce_sorted=False)
        states, _ = nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return self.head(states)


def lstm_tagger(small):
    words, tags = 50, 7
    module = Tagger(words, tags, *((8, 6) if small else (64, 64)))
    lengths = torch.tensor([3, 5, 1, 4] if small else [11, 24, 3, 17, 20, 8])
    shape = len(lengths), int(lengths.max())
    is_word = torch.arange(shape[1]) < lengths[:, None]
    sentences = torch.where(is_word, torch.randint(1, words, shape), 0)
    wanted = torch.where(is_word, torch.randint(0, tags, shape), -100)

    def loss(scores):
        return functional.cross_entropy(scores.flatten(0, 1), wanted.flatten(), ignore_index=-100)

    return Training(module, loss, (sentences, lengths))


# --- the front end of a recognizer of speech -------------------------------------------------------


def mel_filters(bins, filters, rate):
    """Triangles, evenly spaced in mel, 2595 log10(1 + f / 700) (O'Shaughnessy, Speech Communication,
    1987)."""
    top = 2595 * math.log10(1 + rate / 2 / 700)
    corners = 700 * (10 ** (torch.linspace(0, top, filters + 2) / 2595) - 1)
    frequencies = torch.linspace(0, rate / 2, bins)
    low, middle, high = (corners[i:i + filters, None] for i in range(3))
    rising, falling = (frequencies - low) / (middle - low), (high - frequencies) / (high - middle)
    return torch.minimum(rising, falling).clamp(min=0)


class SpeechFrontEnd(nn.Module):
    """The pre-emphasis is learned, so that gradients go through the transform."""

    def __init__(self, frame, filters, channels):
        super().__init__()
        self.frame = frame
        self.emphasis = nn.Conv1d(1, 1, 2, bias=False)
        self.register_buffer("window", torch.hann_window(frame))
        self.register_buffer("mel", mel_filters(frame // 2 + 1, filters, 8000))
        self.body = nn.Sequential(
            nn.Conv1d(filters, channels, 3, padding=1), nn.GroupNorm(2, channels), nn.GELU(),
            nn.Conv1d(channels, channels, 3, stride=2, padding=1), nn.SiLU())
        self.head = nn.Linear(channels, 5)

    def forward(self, signal):
        emphasized = self.emphasis(signal[:, None]).squeeze(1)
        spectrum = torch.stft(emphasized, self.frame, self.frame // 2, window=self.window,
                              return_complex=True)
        energy = self.mel @ spectrum.abs().square()
        return self.head(self.body(torch.log(energy + 1e-3)).mean(-1))


def speech(small):
    frame = 64 if small else 256
    module = SpeechFrontEnd(frame, *((8, 6) if small else (40, 64)))
    signal = torch.randn(2, 6 * frame if small else 8000)
    return Training(module, cross_entropy_with(torch.tensor([1, 4])), (signal,))


# --- graph convolution (Kipf, Welling, Semi-Supervised Classification, 2017) -------------------------


def normalized_adjacency(nodes, neighbours):
    """D^-1/2 (A + I) D^-1/2 of a random undirected graph, in CSR."""
    edges = (torch.rand(nodes, nodes) < neighbours / nodes).float()
    adjacency = ((edges + edges.T + torch.eye(nodes)) > 0).float()
    scale = adjacency.sum(1).rsqrt()
    return (scale[:, None] * adjacency * scale).to_sparse_csr()


class GraphConvolution(nn.Module):
    def __init__(self, features, hidden, classes):
        super().__init__()
        self.first, self.second = nn.Linear(features, hidden), nn.Linear(hidden, classes)

    def forward(self, adjacency, x):
        x = functional.relu(torch.sparse.mm(adjacency, self.first(x)))
        return torch.sparse.mm(adjacency, self.second(x))


def graph_convolution(small):
    nodes, features, hidden = (30, 8, 6) if small else (1000, 128, 64)
    module = GraphConvolution(features, hidden, 4)
    adjacency, x = normalized_adjacency(nodes, 4), torch.randn(nodes, features)
    labels = torch.randint(0, 4, (nodes,))
    return Training(module, cross_entropy_with(labels), (adjacency, x))


MODELS = {f.__name__: f for f in (resnet50, unet, lstm_tagger, speech, graph_convolution)}


def make(name, small=False, seed=0):
    torch.manual_seed(seed)
    return MODELS[name](small)
