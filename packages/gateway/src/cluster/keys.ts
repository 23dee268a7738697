import { hkdfSync } from 'node:crypto'

/** What a key is used for. No two purposes share a key. */
export type KeyPurpose = 'client state' | 'forwarded requests' | 'script state'

/** Derives a key from the secret that all replicas share. */
export const clusterKey = (secret: string, purpose: KeyPurpose): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', secret, '', `unfold cluster: ${purpose}`, 32))
