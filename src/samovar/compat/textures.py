"""`ti.Texture`, `ti.Format`: images that kernels sample, in memory of arrays.

A texture is an array of vectors with one component per channel. Formats without a suffix (`r8`, `rgba16`) hold numbers from
0 to 1. Sampling is linear, and coordinates repeat; texels outside the image are zeros.
"""

from __future__ import annotations

import enum
from importlib import import_module
from typing import Any

import samovar
from samovar import f16, f32, i8, i16, i32, u8, u16, u32
from samovar.errors import SamovarError

_TYPES = {"8": u8, "8u": u8, "8i": i8, "16": u16, "16u": u16, "16i": i16, "16f": f16, "32u": u32, "32i": i32, "32f": f32}
_CHANNELS = {"r": 1, "rg": 2, "rgb": 3, "rgba": 4}
_NAMES = ["unknown"]
_NAMES += [first + last for first in _CHANNELS for last in _TYPES if first != "rgb" or not last.startswith("8")]

Format = enum.Enum("Format", [(name, number) for number, name in enumerate(_NAMES)])  # type: ignore[misc]
Format.__doc__ = "The number of channels of a texture, and what is stored of each."


@samovar.data_oriented
class Texture:
    """An image of one, two or three dimensions."""

    def __init__(self, fmt: Format, arr_shape: Any) -> None:
        first = str(fmt.name).rstrip("0123456789uif")
        if first not in _CHANNELS:
            raise SamovarError(f"ti.Texture: {fmt!r} is not a format of textures")
        kind = str(fmt.name)[len(first) :]
        self.fmt = fmt
        self.shape = (arr_shape,) if isinstance(arr_shape, int) else tuple(arr_shape)
        self.num_dims = len(self.shape)
        self.channels = _CHANNELS[first]
        self.dtype = _TYPES[kind]
        #: What the number 1 is stored as, 0 if numbers are stored as they are.
        self.one = (1 << int(kind)) - 1 if kind in ("8", "16") else 0
        self.texels = samovar.Vector.ndarray(self.channels, self.dtype, self.shape)

    @samovar.func
    def fetch(self, index: Any, lod: Any) -> Any:
        """The channels of a texel, as four floats."""
        return self.load(index)

    @samovar.func
    def load(self, index: Any) -> Any:
        """The channels of a texel, as four floats."""
        place = samovar.Vector([*index])
        is_inside = True
        for axis in samovar.static(range(self.num_dims)):
            is_inside = is_inside and 0 <= place[axis] < self.shape[axis]
        found = samovar.Vector([0.0, 0.0, 0.0, 1.0], dt=f32)
        if is_inside:
            for channel in samovar.static(range(self.channels)):
                found[channel] = samovar.cast(self.texels[place][channel], f32)
                if samovar.static(self.one > 0):
                    found[channel] /= self.one
        return found

    @samovar.func
    def store(self, index: Any, value: Any) -> None:
        """Write the channels of a texel."""
        place = samovar.Vector([*index])
        for channel in samovar.static(range(self.channels)):
            if samovar.static(self.one > 0):
                scaled = samovar.round(samovar.math.clamp(value[channel], 0.0, 1.0) * self.one)
                self.texels[place][channel] = samovar.cast(scaled, self.dtype)
            else:
                self.texels[place][channel] = samovar.cast(value[channel], self.dtype)

    @samovar.func
    def sample_lod(self, uv: Any, lod: Any) -> Any:
        """The channels at a point, interpolated; the image goes from 0 to 1, and repeats."""
        point = samovar.Vector([*uv])
        low = samovar.Vector([0] * self.num_dims)
        part = samovar.Vector([0.0] * self.num_dims, dt=f32)
        for axis in samovar.static(range(self.num_dims)):
            scaled = point[axis] * self.shape[axis] - 0.5
            low[axis] = samovar.floor(scaled, i32)
            part[axis] = scaled - low[axis]
        found = samovar.Vector([0.0, 0.0, 0.0, 0.0], dt=f32)
        for corner in samovar.static(range(2**self.num_dims)):
            weight = f32(1.0)
            place = low
            for axis in samovar.static(range(self.num_dims)):
                if samovar.static(corner >> axis & 1):
                    place[axis] += 1
                    weight *= part[axis]
                else:
                    weight *= 1.0 - part[axis]
                place[axis] = place[axis] % self.shape[axis]
            found += weight * self.load(place)
        return found

    def from_ndarray(self, ndarray: Any) -> None:
        """Copy the elements of an array."""
        self.texels.from_numpy(ndarray.to_numpy().reshape(*self.shape, self.channels))

    def from_field(self, field: Any) -> None:
        """Copy the elements of a field."""
        self.from_ndarray(field)

    def from_image(self, image: Any) -> None:
        """Copy a Pillow image; its first row has the highest second index."""
        import numpy as np

        pixels = np.asarray(image.convert("RGB").rotate(90, expand=True))
        found = np.zeros((*self.shape, self.channels), self.texels.to_numpy().dtype)
        found[..., : min(3, self.channels)] = pixels[..., : min(3, self.channels)]
        if self.channels == 4:
            found[..., 3] = 255
        self.texels.from_numpy(found)

    def to_image(self) -> Any:
        """Return a Pillow image."""
        import numpy as np

        pixels = np.zeros((*self.shape, 3), np.uint8)
        pixels[..., : min(3, self.channels)] = self.texels.to_numpy()[..., :3]
        return import_module("PIL.Image").fromarray(pixels).rotate(270, expand=True)


def texture(num_dimensions: int) -> Any:
    """The annotation of a texture that is sampled."""
    return samovar.template()


def rw_texture(num_dimensions: int, lod: int = 0, fmt: Any = None) -> Any:
    """The annotation of a texture that is written."""
    if fmt is None:
        raise samovar.SamovarCompilationError("fmt is required for rw_texture type")
    return samovar.template()


NAMES: dict[str, Any] = {
    "Format": Format,
    "RWTextureType": rw_texture,
    "Texture": Texture,
    "TextureType": texture,
    "rw_texture": rw_texture,
    "texture": texture,
}
