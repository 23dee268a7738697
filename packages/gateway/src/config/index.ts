// A separate entry point: commands that only edit the configuration load faster without the gateway.
export { localUrl } from './address.ts'
export {
  type ParseOptions,
  parseConfig,
  type ReadConfig,
  readConfig,
  type SecretUse,
  secretCommands,
  secretCommandsIn,
  secretUses,
  writtenConfig,
} from './read.ts'
export { isLoopback } from './rules.ts'
export { type FileConfig as WrittenConfig, type Role, roles, scriptSettings } from './schema.ts'
export { serverTarget } from './target.ts'
export { createToken, hasClientTokens, type TokenAccess, verifyToken } from './tokens.ts'
