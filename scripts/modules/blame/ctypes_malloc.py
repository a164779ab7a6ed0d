"""C memory that Python never frees."""
import ctypes

import victim

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]


def step(_):
    for _ in range(4):
        block = libc.malloc(80_000)
        libc.memset(block, 1, 80_000)
        libc.free(block)
    block = libc.malloc(80_000)  # LEAK
    libc.memset(block, 1, 80_000)
    if victim.HEALTHY:
        libc.free(block)


victim.run(step)
