// What edits or reads a configuration needs nothing of what runs one, and starts much faster without.
export { parseConfig, type ReadConfig, readConfig } from './read.ts'
export { createToken } from './tokens.ts'
