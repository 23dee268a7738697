// A separate entry point: "unfold secret" does not load the gateway.
export type { SecretReference } from '@unfold-mcp/core'
export { SecretError } from './error.ts'
export type { Keyring } from './keyring.ts'
export { type PassphraseOptions, passphraseFrom } from './passphrase.ts'
export { type SecretLookup, SecretResolver, type SecretResolverOptions } from './resolver.ts'
export type { ResolvedSecret } from './secret-file.ts'
export {
  type Passphrase,
  type SecretPlace,
  SecretStore,
  type SecretStoreOptions,
  type StoredSecret,
  secretNamePattern,
} from './store.ts'
