const loopback = new Set(['127.0.0.1', '[::1]', 'localhost'])

/** HTTPS, or HTTP to this machine. */
export const isSecureUrl = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && loopback.has(hostname))
