// The shapes of plotshape() and label.new(), centred on a point; `size` is their height in device pixels.

export function drawShape(
  ctx: CanvasRenderingContext2D,
  shape: string,
  x: number,
  y: number,
  size: number,
): void {
  const half = size / 2
  ctx.beginPath()
  switch (shape) {
    case 'circle':
      ctx.arc(x, y, half, 0, Math.PI * 2)
      break
    case 'square':
      ctx.rect(x - half, y - half, size, size)
      break
    case 'diamond':
      polygon(ctx, [x, y - half, x + half, y, x, y + half, x - half, y])
      break
    case 'triangleup':
      polygon(ctx, [x, y - half, x + half, y + half, x - half, y + half])
      break
    case 'triangledown':
      polygon(ctx, [x, y + half, x + half, y - half, x - half, y - half])
      break
    case 'arrowup':
      arrow(ctx, x, y, half, 1)
      break
    case 'arrowdown':
      arrow(ctx, x, y, half, -1)
      break
    case 'cross':
      ctx.rect(x - half, y - half / 4, size, half / 2)
      ctx.rect(x - half / 4, y - half, half / 2, size)
      break
    case 'flag':
      ctx.rect(x - half, y - half, size / 6, size)
      ctx.rect(x - half, y - half, size, size * 0.6)
      break
    case 'labelup':
      ctx.roundRect(x - half * 1.6, y - half * 0.7, size * 1.6, size, half / 3)
      polygon(ctx, [x, y - half * 1.2, x + half / 2, y - half * 0.6, x - half / 2, y - half * 0.6])
      break
    case 'labeldown':
      ctx.roundRect(x - half * 1.6, y - half * 1.3, size * 1.6, size, half / 3)
      polygon(ctx, [x, y + half * 0.2, x + half / 2, y - half * 0.4, x - half / 2, y - half * 0.4])
      break
    default: {
      const arm = half * 0.32
      polygon(ctx, [
        x - half,
        y - half + arm,
        x - half + arm,
        y - half,
        x,
        y - arm,
        x + half - arm,
        y - half,
        x + half,
        y - half + arm,
        x + arm,
        y,
        x + half,
        y + half - arm,
        x + half - arm,
        y + half,
        x,
        y + arm,
        x - half + arm,
        y + half,
        x - half,
        y + half - arm,
        x - arm,
        y,
      ])
    }
  }
  ctx.fill()
}

function polygon(ctx: CanvasRenderingContext2D, points: readonly number[]): void {
  ctx.moveTo(points[0]!, points[1]!)
  for (let i = 2; i < points.length; i += 2) ctx.lineTo(points[i]!, points[i + 1]!)
  ctx.closePath()
}

/** `way` 1 points up. */
function arrow(ctx: CanvasRenderingContext2D, x: number, y: number, half: number, way: 1 | -1): void {
  const at = (up: number) => y - way * up
  polygon(ctx, [
    x,
    at(half),
    x + half * 0.8,
    at(0),
    x + half * 0.3,
    at(0),
    x + half * 0.3,
    at(-half),
    x - half * 0.3,
    at(-half),
    x - half * 0.3,
    at(0),
    x - half * 0.8,
    at(0),
  ])
}
