import { type ScanResult, scanDefinition } from '../poisoning/scan.ts'

const results = new WeakMap<object, ScanResult>()

/** Scans a definition once: each is compared with the next one of the same name. */
export function scanned(definition: object): ScanResult {
  const known = results.get(definition)
  if (known !== undefined) return known
  const result = scanDefinition(definition)
  results.set(definition, result)
  return result
}
