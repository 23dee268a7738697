const loopback = new Set(['127.0.0.1', '[::1]', 'localhost'])

/** Whether nobody on the way can read what is sent to an address. */
export const isSecureUrl = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && loopback.has(hostname))
