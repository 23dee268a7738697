// A separate entry point: "unfold secret" does not load the gateway.
export { SecretError } from './error.ts'
export { passphraseFrom } from './passphrase.ts'
export { type SecretLookup, SecretResolver } from './resolver.ts'
export { type Passphrase, type SecretPlace, SecretStore, secretNamePattern } from './store.ts'
