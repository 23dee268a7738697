import type { Toolbox } from '@unfold-mcp/server'
import { z } from 'zod'
import type { Shelf } from './shelves.ts'

/** Red, green and blue from 0 to 1; the common format of all notations. */
type Colour = readonly [number, number, number]

interface Notation {
  readonly name: string
  readonly example: string
  read(text: string): Colour
  write(colour: Colour): string
}

const asPercent = (share: number): number => Math.round(share * 1_000) / 10
const byte = (share: number): number => Math.round(Math.min(1, Math.max(0, share)) * 255)

function numbersIn(text: string, count: number, example: string): readonly number[] {
  const found = (text.match(/-?\d+(?:\.\d+)?/gu) ?? []).map(Number)
  if (found.length !== count) throw new Error(`"${text}" is not a colour in this notation. Write it like ${example}.`)
  return found
}

/** Hue in degrees, with the largest and the smallest component. */
function hueOf([r, g, b]: Colour): { hue: number; most: number; least: number } {
  const most = Math.max(r, g, b)
  const least = Math.min(r, g, b)
  const range = most - least
  if (range === 0) return { hue: 0, most, least }
  const sixth = most === r ? ((g - b) / range + 6) % 6 : most === g ? (b - r) / range + 2 : (r - g) / range + 4
  return { hue: sixth * 60, most, least }
}

/** Returns the colour of a hue with this chroma, plus an amount of white. */
function ofHue(hue: number, chroma: number, white: number): Colour {
  const part = (shift: number): number => {
    const place = (shift + (((hue % 360) + 360) % 360) / 60) % 6
    return white + chroma * Math.max(0, Math.min(1, Math.abs(place - 3) - 1))
  }
  return [part(0), part(4), part(2)]
}

const notations: readonly Notation[] = [
  {
    name: 'hex',
    example: '#3366cc',
    read: (text) => {
      const digits = /^#?([0-9a-f]{3}|[0-9a-f]{6})$/iu.exec(text.trim())?.[1]
      if (digits === undefined) throw new Error(`"${text}" is not a colour in this notation. Write it like #3366cc.`)
      const six =
        digits.length === 3
          ? Array.from(digits)
              .map((digit) => digit + digit)
              .join('')
          : digits
      const part = (at: number): number => Number.parseInt(six.slice(at, at + 2), 16) / 255
      return [part(0), part(2), part(4)]
    },
    write: (colour) => `#${colour.map((part) => byte(part).toString(16).padStart(2, '0')).join('')}`,
  },
  {
    name: 'rgb',
    example: 'rgb(51, 102, 204)',
    read: (text) => {
      const [r = 0, g = 0, b = 0] = numbersIn(text, 3, 'rgb(51, 102, 204)')
      return [r / 255, g / 255, b / 255]
    },
    write: (colour) => `rgb(${colour.map(byte).join(', ')})`,
  },
  {
    name: 'hsl',
    example: 'hsl(220, 60%, 50%)',
    read: (text) => {
      const [hue = 0, saturation = 0, lightness = 0] = numbersIn(text, 3, 'hsl(220, 60%, 50%)')
      const light = lightness / 100
      const chroma = (1 - Math.abs(2 * light - 1)) * (saturation / 100)
      return ofHue(hue, chroma, light - chroma / 2)
    },
    write: (colour) => {
      const { hue, most, least } = hueOf(colour)
      const light = (most + least) / 2
      const saturation = most === least ? 0 : (most - least) / (1 - Math.abs(2 * light - 1))
      return `hsl(${Math.round(hue)}, ${asPercent(saturation)}%, ${asPercent(light)}%)`
    },
  },
  {
    name: 'hsv',
    example: 'hsv(220, 75%, 80%)',
    read: (text) => {
      const [hue = 0, saturation = 0, value = 0] = numbersIn(text, 3, 'hsv(220, 75%, 80%)')
      const chroma = (value / 100) * (saturation / 100)
      return ofHue(hue, chroma, value / 100 - chroma)
    },
    write: (colour) => {
      const { hue, most, least } = hueOf(colour)
      return `hsv(${Math.round(hue)}, ${asPercent(most === 0 ? 0 : (most - least) / most)}%, ${asPercent(most)}%)`
    },
  },
  {
    name: 'cmyk',
    example: 'cmyk(75%, 50%, 0%, 20%)',
    read: (text) => {
      const [c = 0, m = 0, y = 0, k = 0] = numbersIn(text, 4, 'cmyk(75%, 50%, 0%, 20%)').map((part) => part / 100)
      return [(1 - c) * (1 - k), (1 - m) * (1 - k), (1 - y) * (1 - k)]
    },
    write: (colour) => {
      const key = 1 - Math.max(...colour)
      const ink = (part: number): number => (key === 1 ? 0 : (1 - part - key) / (1 - key))
      return `cmyk(${[...colour.map(ink), key].map((part) => `${asPercent(part)}%`).join(', ')})`
    },
  },
]

const hex = z.string().max(20).describe('A colour such as #3366cc')
const readHex = (text: string): Colour => (notations[0] as Notation).read(text)
const writeHex = (colour: Colour): string => (notations[0] as Notation).write(colour)

const mixed = (one: Colour, other: Colour, share: number): Colour => {
  const part = (at: 0 | 1 | 2): number => one[at] * (1 - share) + other[at] * share
  return [part(0), part(1), part(2)]
}

/** Returns the relative luminance of a colour, from 0 to 1. */
const luminance = (colour: Colour): number => {
  const [r = 0, g = 0, b = 0] = colour.map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

const turned = (colour: Colour, degrees: number): Colour => {
  const { hue, most, least } = hueOf(colour)
  return ofHue(hue + degrees, most - least, least)
}

export function addColours(workshop: Toolbox<Shelf>): void {
  const shelf = { group: 'colours', readOnly: true } as const
  for (const from of notations) {
    for (const to of notations) {
      if (from === to) continue
      const description = `Convert a colour from ${from.name.toUpperCase()} (${from.example}) to ${to.name.toUpperCase()} (${to.example}).`
      workshop.tool(
        `${from.name}_colour_to_${to.name}`,
        { ...shelf, description, inputSchema: z.object({ colour: z.string().max(60) }) },
        ({ colour }) => to.write(from.read(colour)),
      )
    }
  }

  const amount = z.object({ colour: hex, percent: z.number().min(0).max(100).default(20) })
  const towards = { lighten_colour: ['lighter', [1, 1, 1]], darken_colour: ['darker', [0, 0, 0]] } as const
  for (const [name, [word, end]] of Object.entries(towards)) {
    workshop.tool(name, { ...shelf, description: `Make a colour ${word}.`, inputSchema: amount }, ({ colour, percent }) =>
      writeHex(mixed(readHex(colour), end, percent / 100)),
    )
  }
  workshop.tool(
    'grey_colour',
    { ...shelf, description: 'The grey that is as bright as a colour (greyscale).', inputSchema: z.object({ colour: hex }) },
    ({ colour }) => {
      const [r, g, b] = readHex(colour)
      const grey = 0.299 * r + 0.587 * g + 0.114 * b
      return writeHex([grey, grey, grey])
    },
  )
  workshop.tool(
    'invert_colour',
    { ...shelf, description: 'The negative of a colour.', inputSchema: z.object({ colour: hex }) },
    ({ colour }) => {
      const [r, g, b] = readHex(colour)
      return writeHex([1 - r, 1 - g, 1 - b])
    },
  )
  workshop.tool(
    'mix_colours',
    {
      ...shelf,
      description: 'Mix two colours.',
      inputSchema: z.object({ one: hex, other: hex, percent: z.number().min(0).max(100).default(50) }),
    },
    ({ one, other, percent }) => writeHex(mixed(readHex(one), readHex(other), percent / 100)),
  )
  workshop.tool(
    'colour_contrast',
    {
      ...shelf,
      description: 'The contrast of two colours, as WCAG computes it for readable text.',
      inputSchema: z.object({ one: hex, other: hex }),
    },
    ({ one, other }) => {
      const [brighter = 0, darker = 0] = [luminance(readHex(one)), luminance(readHex(other))].sort((a, b) => b - a)
      const ratio = Math.round(((brighter + 0.05) / (darker + 0.05)) * 100) / 100
      return { ratio, passesAA: ratio >= 4.5, passesAAA: ratio >= 7 }
    },
  )
  const harmonies = {
    complementary: [180],
    triadic: [120, 240],
    analogous: [-30, 30],
    split_complementary: [150, 210],
    square: [90, 180, 270],
  }
  for (const [name, turns] of Object.entries(harmonies)) {
    const description = `The ${name.replaceAll('_', ' ')} colours of a colour.`
    workshop.tool(`${name}_colours`, { ...shelf, description, inputSchema: z.object({ colour: hex }) }, ({ colour }) => ({
      colours: [writeHex(readHex(colour)), ...turns.map((degrees) => writeHex(turned(readHex(colour), degrees)))],
    }))
  }
}
