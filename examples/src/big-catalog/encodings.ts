import { createHash } from 'node:crypto'
import type { Toolbox } from '@unfold-mcp/server'
import { z } from 'zod'
import { fromMorse, toMorse } from './morse.ts'
import type { Shelf } from './shelves.ts'

interface Encoding {
  readonly name: string
  readonly description: string
  readonly encode: (text: string) => string
  readonly decode: (text: string) => string
}

const bytes = (name: BufferEncoding, description: string): Encoding => ({
  name,
  description,
  encode: (text) => Buffer.from(text, 'utf8').toString(name),
  decode: (text) => Buffer.from(text, name).toString('utf8'),
})

const turned = (text: string): string =>
  text.replaceAll(/[a-z]/giu, (letter) => {
    const first = letter <= 'Z' ? 65 : 97
    return String.fromCharCode(((letter.charCodeAt(0) - first + 13) % 26) + first)
  })

const mirrored = (text: string): string =>
  text.replaceAll(/[a-z]/giu, (letter) => String.fromCharCode((letter <= 'Z' ? 155 : 219) - letter.charCodeAt(0)))

const entities: readonly (readonly [string, string])[] = [
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
]

const encodings: readonly Encoding[] = [
  bytes('base64', 'Base64'),
  bytes('base64url', 'Base64 that is safe in addresses'),
  bytes('hex', 'hexadecimal bytes'),
  {
    name: 'percent',
    description: 'percent-encoding, as in addresses (URL encoding)',
    encode: encodeURIComponent,
    decode: decodeURIComponent,
  },
  {
    name: 'html',
    description: 'HTML entities',
    encode: (text) => entities.reduce((made, [plain, entity]) => made.replaceAll(plain, entity), text),
    decode: (text) => entities.toReversed().reduce((made, [plain, entity]) => made.replaceAll(entity, plain), text),
  },
  {
    name: 'binary',
    description: 'binary digits, eight for each byte',
    encode: (text) => [...Buffer.from(text, 'utf8')].map((byte) => byte.toString(2).padStart(8, '0')).join(' '),
    decode: (text) => Buffer.from((text.match(/[01]{8}/gu) ?? []).map((byte) => Number.parseInt(byte, 2))).toString('utf8'),
  },
  { name: 'rot13', description: 'ROT13, letters turned by thirteen', encode: turned, decode: turned },
  { name: 'atbash', description: 'Atbash, the alphabet mirrored', encode: mirrored, decode: mirrored },
  { name: 'morse', description: 'Morse code', encode: toMorse, decode: fromMorse },
  {
    name: 'json_string',
    description: 'a JSON string with its quotes and escapes',
    encode: (text) => JSON.stringify(text),
    decode: (text) => String(JSON.parse(text)),
  },
]

const hashes = ['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512'] as const

export function addEncodings(workshop: Toolbox<Shelf>): void {
  const inputSchema = z.object({ text: z.string().max(100_000) })
  for (const { name, description, encode, decode } of encodings) {
    const kept = { group: 'encodings', inputSchema, readOnly: true } as const
    workshop.tool(`encode_${name}`, { ...kept, description: `Encode text as ${description}.` }, ({ text }) => encode(text))
    workshop.tool(`decode_${name}`, { ...kept, description: `Decode text from ${description}.` }, ({ text }) => decode(text))
  }
  for (const name of hashes) {
    const description = `Hash text with ${name.toUpperCase()}: a checksum in hexadecimal.`
    workshop.tool(`hash_${name}`, { group: 'encodings', description, inputSchema, readOnly: true }, ({ text }) =>
      createHash(name).update(text, 'utf8').digest('hex'),
    )
  }
}
