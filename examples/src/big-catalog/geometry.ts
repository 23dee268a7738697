import type { Toolbox } from '@unfold-mcp/server'
import { z } from 'zod'
import { rounded } from './rounding.ts'
import type { Shelf } from './shelves.ts'

type Sizes = { readonly [name: string]: number }

/** A shape: its dimensions, and the values computed from them. */
interface Shape {
  readonly name: string
  readonly sizes: readonly string[]
  readonly computes: { readonly [quantity: string]: (sizes: Sizes) => number }
}

const { PI, sqrt, hypot, tan } = Math
const at = (sizes: Sizes, name: string): number => sizes[name] ?? 0

/** Shapes with one, two and three dimensions. */
const round = (name: string, computes: { [quantity: string]: (r: number) => number }): Shape => ({
  name,
  sizes: ['radius'],
  computes: mapped(computes, (formula) => (sizes) => formula(at(sizes, 'radius'))),
})

const shape = <S extends string>(
  name: string,
  sizes: readonly S[],
  computes: { [quantity: string]: (sizes: { readonly [K in S]: number }) => number },
): Shape => ({ name, sizes, computes: mapped(computes, (formula) => (given) => formula(given as { readonly [K in S]: number })) })

const polygon = (name: string, corners: number): Shape =>
  shape(`regular ${name}`, ['side'], {
    area: ({ side }) => (corners * side ** 2) / (4 * tan(PI / corners)),
    perimeter: ({ side }) => corners * side,
    circumradius: ({ side }) => side / (2 * Math.sin(PI / corners)),
    apothem: ({ side }) => side / (2 * tan(PI / corners)),
  })

const heron = (a: number, b: number, c: number): number => {
  const half = (a + b + c) / 2
  const square = half * (half - a) * (half - b) * (half - c)
  if (square < 0) throw new Error(`No triangle has the sides ${a}, ${b} and ${c}: one is longer than the other two combined.`)
  return sqrt(square)
}

const shapes: readonly Shape[] = [
  round('circle', { area: (r) => PI * r ** 2, circumference: (r) => 2 * PI * r, diameter: (r) => 2 * r }),
  round('sphere', { volume: (r) => (4 / 3) * PI * r ** 3, surface: (r) => 4 * PI * r ** 2 }),
  round('hemisphere', { volume: (r) => (2 / 3) * PI * r ** 3, surface: (r) => 3 * PI * r ** 2 }),
  shape('square', ['side'], {
    area: ({ side }) => side ** 2,
    perimeter: ({ side }) => 4 * side,
    diagonal: ({ side }) => side * sqrt(2),
  }),
  shape('rectangle', ['width', 'height'], {
    area: ({ width, height }) => width * height,
    perimeter: ({ width, height }) => 2 * (width + height),
    diagonal: ({ width, height }) => hypot(width, height),
  }),
  shape('triangle', ['a', 'b', 'c'], { area: ({ a, b, c }) => heron(a, b, c), perimeter: ({ a, b, c }) => a + b + c }),
  shape('right triangle', ['a', 'b'], {
    hypotenuse: ({ a, b }) => hypot(a, b),
    area: ({ a, b }) => (a * b) / 2,
    perimeter: ({ a, b }) => a + b + hypot(a, b),
  }),
  shape('trapezoid', ['top', 'bottom', 'height'], { area: ({ top, bottom, height }) => ((top + bottom) / 2) * height }),
  shape('parallelogram', ['base', 'height'], { area: ({ base, height }) => base * height }),
  shape('rhombus', ['p', 'q'], { area: ({ p, q }) => (p * q) / 2, perimeter: ({ p, q }) => 2 * hypot(p, q) }),
  shape('ellipse', ['a', 'b'], {
    area: ({ a, b }) => PI * a * b,
    perimeter: ({ a, b }) => PI * (3 * (a + b) - sqrt((3 * a + b) * (a + 3 * b))),
  }),
  shape('ring', ['outer', 'inner'], { area: ({ outer, inner }) => PI * (outer ** 2 - inner ** 2) }),
  shape('circular sector', ['radius', 'degrees'], {
    area: ({ radius, degrees }) => (degrees / 360) * PI * radius ** 2,
    arc_length: ({ radius, degrees }) => (degrees / 360) * 2 * PI * radius,
  }),
  ...['pentagon', 'hexagon', 'heptagon', 'octagon', 'nonagon', 'decagon'].map((name, index) => polygon(name, index + 5)),
  shape('cube', ['side'], {
    volume: ({ side }) => side ** 3,
    surface: ({ side }) => 6 * side ** 2,
    diagonal: ({ side }) => side * sqrt(3),
  }),
  shape('cuboid', ['width', 'depth', 'height'], {
    volume: ({ width, depth, height }) => width * depth * height,
    surface: ({ width, depth, height }) => 2 * (width * depth + width * height + depth * height),
    diagonal: ({ width, depth, height }) => hypot(width, depth, height),
  }),
  shape('cylinder', ['radius', 'height'], {
    volume: ({ radius, height }) => PI * radius ** 2 * height,
    surface: ({ radius, height }) => 2 * PI * radius * (radius + height),
  }),
  shape('cone', ['radius', 'height'], {
    volume: ({ radius, height }) => (PI * radius ** 2 * height) / 3,
    surface: ({ radius, height }) => PI * radius * (radius + hypot(radius, height)),
  }),
  shape('square pyramid', ['base', 'height'], {
    volume: ({ base, height }) => (base ** 2 * height) / 3,
    surface: ({ base, height }) => base ** 2 + 2 * base * hypot(base / 2, height),
  }),
  shape('torus', ['major', 'minor'], {
    volume: ({ major, minor }) => 2 * PI ** 2 * major * minor ** 2,
    surface: ({ major, minor }) => 4 * PI ** 2 * major * minor,
  }),
]

export function addGeometry(workshop: Toolbox<Shelf>): void {
  for (const { name, sizes, computes } of shapes) {
    const inputSchema = z.object(Object.fromEntries(sizes.map((size) => [size, z.number().positive()])))
    for (const [quantity, formula] of Object.entries(computes)) {
      const description = `Compute the ${quantity.replaceAll('_', ' ')} of a ${name} from its ${sizes.join(', ')}.`
      workshop.tool(
        `${name.replaceAll(' ', '_')}_${quantity}`,
        { group: 'geometry', description, inputSchema, readOnly: true },
        (given) => ({
          [quantity]: rounded(formula(given)),
        }),
      )
    }
  }
}

function mapped<A, B>(record: { readonly [key: string]: A }, change: (value: A) => B): { readonly [key: string]: B } {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]))
}
