import { canonicalJson } from '../base/canonical.ts'
import type { Tool } from './tool.ts'

/**
 * Short hash for detecting changes within one server. Not cryptographically secure.
 */
export function fingerprint(text: string): string {
  let a = 0xdeadbeef
  let b = 0x41c6ce57
  let c = 0x9e3779b9
  let d = 0x85ebca6b
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    a = Math.imul(a ^ unit, 2654435761)
    b = Math.imul(b ^ unit, 1597334677)
    c = Math.imul(c ^ unit, 2246822507)
    d = Math.imul(d ^ unit, 3266489909)
  }
  const mixed = [a ^ (b >>> 15), b ^ (c >>> 13), c ^ (d >>> 16), d ^ (a >>> 14)]
  return mixed.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
}

const known = new WeakMap<Tool, string>()

/** Fingerprint of a tool definition without `_meta`, so that live counts do not change it. */
export function toolFingerprint(tool: Tool): string {
  const found = known.get(tool)
  if (found !== undefined) return found
  const { _meta, ...definition } = tool
  const made = fingerprint(canonicalJson(definition))
  known.set(tool, made)
  return made
}
