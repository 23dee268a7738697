/** A secret that cannot be read or stored: what failed, why, and what to do. */
export class SecretError extends Error {
  override readonly name = 'SecretError'
}

/** The passphrase does not open the store. */
export class WrongPassphraseError extends SecretError {}

/** The keyring of the operating system is not usable. */
export class KeyringError extends SecretError {}
