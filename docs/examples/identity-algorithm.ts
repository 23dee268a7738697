//#region algorithm
import { createHash } from 'node:crypto'

const sha256 = (...parts: (string | Buffer)[]): Buffer => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** `canonical` writes JSON as RFC 8785 has it. */
export function identityOf(tools: readonly object[], canonical: (value: unknown) => string): string {
  const buckets: Buffer[][] = Array.from({ length: 64 }, () => [])
  for (const { _meta, ...definition } of tools as readonly { _meta?: unknown }[]) {
    const digest = sha256(canonical(definition))
    buckets[digest.readUInt8(0) >> 2]?.push(digest)
  }
  const empty = Buffer.alloc(32)
  const bytes = sha256(...buckets.map((each) => (each.length === 0 ? empty : sha256(...each.sort((a, b) => a.compare(b))))))
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return bytes.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/u, '$1-$2-$3-$4-')
}
//#endregion
