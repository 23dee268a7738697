import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** A token that opens the administration of one gateway for as long as it runs. */
export const createAdminToken = (random: (size: number) => Uint8Array = randomBytes): string =>
  `unfold_admin_${Buffer.from(random(32)).toString('base64url')}`

/** A token with which stdio clients of whoever runs a gateway are let in for as long as it runs. It opens no administration. */
export const createBridgeToken = (random: (size: number) => Uint8Array = randomBytes): string =>
  `unfold_bridge_${Buffer.from(random(32)).toString('base64url')}`

/** The token that a request presents. */
export function presentedToken(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : /^Bearer +(\S{1,1000})$/iu.exec(authorization)?.[1]
}

/** Whether two texts are the same; takes as long wherever they differ. */
export function isSameToken(a: string, b: string): boolean {
  return timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest())
}
