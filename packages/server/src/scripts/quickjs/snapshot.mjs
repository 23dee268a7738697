// @ts-check
// Format: magic, SHA-256 of the rest, length of the header, header as JSON, then, gzipped, a bitmap of the words of the memory that differ
// from those of a fresh machine, and these words: they compress to half the size of an XOR. Whoever lets a snapshot leave the process
// must encrypt and authenticate it: the digest only finds accidents.
import { createHash } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'

const magic = Buffer.from('UNFS1')
const digestBytes = 32
const pageBytes = 65_536
const start = magic.length + digestBytes

/**
 * @typedef {import('quickjs-wasi').Snapshot} Image
 * @typedef {{ version: string, base: string }} Origin
 * @typedef {{ startedAt: number, cpuMs: number }} Progress
 */

export class SnapshotError extends Error {}

/** @param {Uint8Array} bytes */
export const sha256 = (bytes) => createHash('sha256').update(bytes).digest()

/**
 * @param {Image} image
 * @param {Image} base
 * @param {Origin} origin
 * @param {Progress} progress
 */
export function encodeSnapshot(image, base, origin, { startedAt, cpuMs }) {
  const { stackPointer, runtimePtr, contextPtr, memory } = image
  const pointers = { stackPointer, runtimePtr, contextPtr, bytes: memory.byteLength }
  const header = Buffer.from(JSON.stringify({ ...origin, startedAt, cpuMs, ...pointers }))
  const length = Buffer.alloc(4)
  length.writeUInt32LE(header.length)
  const body = Buffer.concat([length, header, gzipSync(difference(memory, base.memory))])
  return Buffer.concat([magic, sha256(body), body])
}

/**
 * @param {Uint8Array} snapshot
 * @param {Image} base
 * @param {Origin} origin
 * @param {number} maxBytes
 * @returns {Progress & { image: Image }}
 */
export function decodeSnapshot(snapshot, base, origin, maxBytes) {
  const bytes = Buffer.from(snapshot.buffer, snapshot.byteOffset, snapshot.byteLength)
  if (bytes.length < start + 4 || !bytes.subarray(0, magic.length).equals(magic))
    throw new SnapshotError('it is not a snapshot of a script')
  const body = bytes.subarray(start)
  if (!sha256(body).equals(bytes.subarray(magic.length, start))) throw new SnapshotError('it is damaged')
  const end = 4 + body.readUInt32LE()
  const header = parse(body.subarray(4, end))
  if (header.version !== origin.version)
    throw new SnapshotError(`it was taken by ${header.version}, and this server runs ${origin.version}`)
  if (header.base !== origin.base) throw new SnapshotError('it was taken by an incompatible build of the script engine')
  const { startedAt, cpuMs, stackPointer, runtimePtr, contextPtr, bytes: size } = header
  const numbers = [startedAt, cpuMs, stackPointer, runtimePtr, contextPtr, size]
  if (!numbers.every((value) => Number.isFinite(value) && value >= 0) || size % pageBytes !== 0 || size < base.memory.length)
    throw new SnapshotError('its header is invalid')
  if (size > maxBytes) throw new SnapshotError(`its script uses ${size} bytes of memory; the limit is ${maxBytes}`)
  const memory = applied(inflate(body.subarray(end), size), size, base.memory)
  return { startedAt, cpuMs, image: { memory, stackPointer, runtimePtr, contextPtr, extensions: [] } }
}

/**
 * @param {Buffer} text
 * @returns {any}
 */
function parse(text) {
  try {
    return Object(JSON.parse(text.toString()))
  } catch (error) {
    throw new SnapshotError('its header is invalid', { cause: error })
  }
}

/**
 * @param {Buffer} bytes
 * @param {number} size
 */
function inflate(bytes, size) {
  try {
    return gunzipSync(bytes, { maxOutputLength: size + size / 32 })
  } catch (error) {
    throw new SnapshotError('its content is damaged', { cause: error })
  }
}

/**
 * Returns the words of `memory` that differ from `base`, which is not longer, and before them a bitmap of their places.
 * @param {Uint8Array} memory
 * @param {Uint8Array} base
 */
function difference(memory, base) {
  const words = wordsOf(memory)
  const others = wordsOf(base)
  const bitmap = new Uint8Array(words.length / 8)
  const changed = new Uint32Array(words.length)
  let count = 0
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? 0
    if (word === (others[index] ?? 0)) continue
    bitmap[index >> 3] = (bitmap[index >> 3] ?? 0) | (1 << (index & 7))
    changed[count++] = word
  }
  return Buffer.concat([bitmap, new Uint8Array(changed.buffer, 0, count * 4)])
}

/**
 * Returns the memory that differs from `base` as stated.
 * @param {Buffer} bytes
 * @param {number} size
 * @param {Uint8Array} base
 */
function applied(bytes, size, base) {
  const memory = new Uint8Array(size)
  memory.set(base.subarray(0, size))
  const words = wordsOf(memory)
  const bitmapBytes = words.length / 8
  let from = bitmapBytes
  for (let index = 0; index < bitmapBytes; index++)
    for (let bits = bytes[index] ?? 0; bits !== 0; bits &= bits - 1) {
      if (from + 4 > bytes.length) throw new SnapshotError('its content is incomplete')
      words[index * 8 + 31 - Math.clz32(bits & -bits)] = bytes.readUInt32LE(from)
      from += 4
    }
  if (from !== bytes.length) throw new SnapshotError('its content is incomplete')
  return memory
}

/** @param {Uint8Array} bytes */
const wordsOf = (bytes) => new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)
