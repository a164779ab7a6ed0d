"""Pictures that Pillow's C code allocates, decoded from a file in memory."""
import io

import victim
from PIL import Image

kept = victim.container()
buffer = io.BytesIO()
Image.effect_noise((320, 320), 50).convert("RGB").save(buffer, "JPEG")


def step(_):
    picture = Image.open(io.BytesIO(buffer.getvalue()))
    picture.load()
    kept.append(picture.resize((160, 160)))  # LEAK


victim.run(step)
