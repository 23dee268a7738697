// @ts-check
// Format: magic, SHA-256 of the rest, length of the header, header as JSON, then the gzipped XOR of the memory with that of a fresh
// machine. Whoever lets a snapshot leave the process must encrypt and authenticate it: the digest only finds accidents.
import { createHash } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'

const magic = Buffer.from('UNFS1')
const digestBytes = 32
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
  const body = Buffer.concat([length, header, gzipSync(xor(memory, base.memory))])
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
  if (!numbers.every((value) => Number.isFinite(value) && value >= 0) || size % 8 !== 0)
    throw new SnapshotError('its header is invalid')
  if (size > maxBytes) throw new SnapshotError(`its script uses ${size} bytes of memory; the limit is ${maxBytes}`)
  const memory = xor(inflate(body.subarray(end), size), base.memory)
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
    const inflated = gunzipSync(bytes, { maxOutputLength: size })
    if (inflated.length === size) return inflated
  } catch (error) {
    throw new SnapshotError('its content is damaged', { cause: error })
  }
  throw new SnapshotError('its content is incomplete')
}

/**
 * Returns `bytes` combined with `base`; what `bytes` has beyond `base` stays as it is.
 * @param {Uint8Array} bytes
 * @param {Uint8Array} base
 */
function xor(bytes, base) {
  const result = new Uint8Array(bytes)
  const words = new BigUint64Array(result.buffer)
  const others = new BigUint64Array(base.buffer, base.byteOffset, base.byteLength / 8)
  const shared = Math.min(words.length, others.length)
  for (let index = 0; index < shared; index++) words[index] = (words[index] ?? 0n) ^ (others[index] ?? 0n)
  return result
}
