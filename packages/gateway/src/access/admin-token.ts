import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Token for the admin API, valid until the gateway stops. */
export const createAdminToken = (random: (size: number) => Uint8Array = randomBytes): string =>
  `unfold_admin_${Buffer.from(random(32)).toString('base64url')}`

/** Token for the user's stdio clients, valid until the gateway stops. It gives no access to the admin API. */
export const createBridgeToken = (random: (size: number) => Uint8Array = randomBytes): string =>
  `unfold_bridge_${Buffer.from(random(32)).toString('base64url')}`

/** Returns the bearer token of an Authorization header. */
export function presentedToken(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : /^Bearer +(\S{1,1000})$/iu.exec(authorization)?.[1]
}

/** Compares two tokens in constant time. */
export function isSameToken(a: string, b: string): boolean {
  return timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest())
}
