import { printable } from '@unfold-mcp/core'

/** TLS failure. */
export interface TlsProblem {
  readonly code: string
  /** Explanation and fix, without the final full stop. */
  readonly message: string
}

const unknownAuthority =
  'its certificate is signed by an unknown authority; nothing was sent. If you trust that authority, set NODE_EXTRA_CA_CERTS to its certificate (a .pem file)'
const noTls = 'the server does not speak TLS on this port; nothing was sent. Check the port, or use http://'
const unknownName =
  'the server does not accept the host name of the URL (SNI); nothing was sent. Use a name that it serves, or configure it to serve this one'

const messages: { readonly [code: string]: string } = {
  CERT_HAS_EXPIRED:
    'its certificate has expired; nothing was sent. The operator must renew it; if that is done, check the clock of this machine',
  CERT_NOT_YET_VALID:
    'its certificate is not valid yet; nothing was sent. Check the clock of this machine; if it is right, the operator must replace the certificate',
  CERT_REVOKED: 'its certificate is revoked; nothing was sent. The operator must replace it',
  DEPTH_ZERO_SELF_SIGNED_CERT:
    'its certificate is self-signed; nothing was sent. If you trust the server, set NODE_EXTRA_CA_CERTS to that certificate (a .pem file)',
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  ERR_SSL_WRONG_VERSION_NUMBER: noTls,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: noTls,
  ERR_SSL_TLSV1_UNRECOGNIZED_NAME: unknownName,
  ERR_SSL_TLSV1_ALERT_UNRECOGNIZED_NAME: unknownName,
}

/** Explains a TLS error; `undefined` for any other error. */
export function tlsProblem(error: Error): TlsProblem | undefined {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const known = Object.hasOwn(messages, code) ? messages[code] : undefined
  if (known !== undefined) return { code, message: known }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const names = namesIn(error)
    const others = names === '' ? 'another host name' : `${names}, not for the host name of the URL`
    return {
      code,
      message: `its certificate is for ${others}; nothing was sent. Use a host name of the certificate, or replace the certificate`,
    }
  }
  if (/^CERT_|^ERR_(?:SSL|TLS)_/u.test(code))
    return {
      code,
      message: `the TLS handshake failed (${printable(code)}); nothing was sent. Check the certificate and the TLS settings of the server`,
    }
  return undefined
}

function namesIn(error: Error): string {
  const cert = 'cert' in error ? error.cert : undefined
  const names = typeof cert === 'object' && cert !== null && 'subjectaltname' in cert ? cert.subjectaltname : undefined
  return typeof names === 'string' ? printable(names, 150) : ''
}

/** The server closed the connection during the TLS handshake; nothing was sent. */
export const isClosedBeforeTls = (error: Error): boolean => /before secure TLS connection was established/u.test(error.message)

export const closedBeforeTls =
  'the server closed the connection during the TLS handshake; nothing was sent. It may be starting, or have no certificate for the host name (SNI)'
