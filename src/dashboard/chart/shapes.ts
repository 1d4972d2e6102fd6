// The shapes of plotshape() and label.new(), centred on a point; `size` is their height in device pixels.

/** Corners, across and down, in halves of the size. */
const CORNERS: Readonly<Record<string, readonly number[]>> = {
  diamond: [0, -1, 1, 0, 0, 1, -1, 0],
  triangleup: [0, -1, 1, 1, -1, 1],
  triangledown: [0, 1, 1, -1, -1, -1],
  arrowup: [0, -1, 0.8, 0, 0.3, 0, 0.3, 1, -0.3, 1, -0.3, 0, -0.8, 0],
  arrowdown: [0, 1, 0.8, 0, 0.3, 0, 0.3, -1, -0.3, -1, -0.3, 0, -0.8, 0],
  labelup: [0, -1.2, 0.5, -0.6, -0.5, -0.6],
  labeldown: [0, 1.2, -0.5, 0.6, 0.5, 0.6],
}
const XCROSS = [
  -1, -0.68, -0.68, -1, 0, -0.32, 0.68, -1, 1, -0.68, 0.32, 0, 1, 0.68, 0.68, 1, 0, 0.32, -0.68, 1, -1, 0.68,
  -0.32, 0,
]
/** Left, top, width and height, in the same. */
const BOXES: Readonly<Record<string, readonly (readonly [number, number, number, number])[]>> = {
  square: [[-1, -1, 2, 2]],
  cross: [
    [-1, -0.25, 2, 0.5],
    [-0.25, -1, 0.5, 2],
  ],
  flag: [
    [-1, -1, 1 / 3, 2],
    [-1, -1, 2, 1.2],
  ],
}

export function drawShape(
  ctx: CanvasRenderingContext2D,
  shape: string,
  x: number,
  y: number,
  size: number,
): void {
  const half = size / 2
  ctx.beginPath()
  if (shape === 'circle') ctx.arc(x, y, half, 0, Math.PI * 2)
  if (shape === 'labelup' || shape === 'labeldown') {
    const top = shape === 'labelup' ? 0.7 : 1.3
    ctx.roundRect(x - half * 1.6, y - half * top, size * 1.6, size, half / 3)
  }
  const boxes = BOXES[shape]
  for (const [left, top, width, height] of boxes ?? [])
    ctx.rect(x + half * left, y + half * top, half * width, half * height)
  const corners = CORNERS[shape] ?? (boxes || shape === 'circle' ? [] : XCROSS)
  for (let i = 0; i < corners.length; i += 2)
    ctx[i === 0 ? 'moveTo' : 'lineTo'](x + half * corners[i]!, y + half * corners[i + 1]!)
  if (corners.length > 0) ctx.closePath()
  ctx.fill()
}
