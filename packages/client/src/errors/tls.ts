import { printable } from '@unfold-mcp/core'

/** Why no secure connection could be had. */
export interface TlsTrouble {
  readonly code: string
  /** What is wrong and what to do, without the full stop at the end. */
  readonly words: string
}

const unknownAuthority =
  'Its certificate is signed by an authority that is not known here, so nothing was sent. If that is one of your own, start this program with NODE_EXTRA_CA_CERTS=<its certificate, a .pem file>'
const noTls = 'It does not speak TLS at this address, so nothing was sent. Check the port, and whether http:// is meant'
const unknownName =
  'It refused the name in the address (SNI), so nothing was sent. Use a name that it serves, or have it serve this one'

const words: { readonly [code: string]: string } = {
  CERT_HAS_EXPIRED:
    'Its certificate has expired, so nothing was sent. Whoever runs it has to renew it; if they did, check the clock of this machine',
  CERT_NOT_YET_VALID:
    'Its certificate is not valid yet, so nothing was sent. Check the clock of this machine; if it is right, whoever runs the server has to replace it',
  CERT_REVOKED: 'Its certificate was revoked, so nothing was sent. Whoever runs it has to replace it',
  DEPTH_ZERO_SELF_SIGNED_CERT:
    'Its certificate is signed by itself alone, so nothing was sent. If the server is your own, start this program with NODE_EXTRA_CA_CERTS=<that certificate, a .pem file>',
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  ERR_SSL_WRONG_VERSION_NUMBER: noTls,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: noTls,
  ERR_SSL_TLSV1_UNRECOGNIZED_NAME: unknownName,
  ERR_SSL_TLSV1_ALERT_UNRECOGNIZED_NAME: unknownName,
}

/** What an error says of a secure connection that was refused; nothing for one that is about something else. */
export function tlsTrouble(error: Error): TlsTrouble | undefined {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const known = Object.hasOwn(words, code) ? words[code] : undefined
  if (known !== undefined) return { code, words: known }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const names = namesIn(error)
    const others = names === '' ? 'another name' : `${names}, and not for the name in the address`
    return {
      code,
      words: `Its certificate is for ${others}, so nothing was sent. Use an address with a name that it is for, or have it made for this one`,
    }
  }
  if (/^CERT_|^ERR_(?:SSL|TLS)_/u.test(code))
    return {
      code,
      words: `No secure connection could be agreed on (${printable(code)}), so nothing was sent. Look at its certificate and its TLS settings`,
    }
  return undefined
}

/** The names that a certificate is for. */
function namesIn(error: Error): string {
  const cert = 'cert' in error ? error.cert : undefined
  const names = typeof cert === 'object' && cert !== null && 'subjectaltname' in cert ? cert.subjectaltname : undefined
  return typeof names === 'string' ? printable(names, 150) : ''
}

/** Whether the server hung up before the connection was secure: it may be starting, or have no certificate for the name. */
export const isCutShort = (error: Error): boolean => /before secure TLS connection was established/u.test(error.message)

export const cutShortWords =
  'It ended the connection before it was secure, so nothing was sent. It may have no certificate for the name in the address (SNI), or be about to start'
