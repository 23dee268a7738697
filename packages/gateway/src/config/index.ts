// What edits or reads a configuration needs nothing of what runs one, and starts much faster without.
export { localUrl } from './address.ts'
export { parseConfig, type ReadConfig, readConfig, writtenConfig } from './read.ts'
export { isLoopback } from './rules.ts'
export type { Config as WrittenConfig } from './schema.ts'
export { createToken } from './tokens.ts'
