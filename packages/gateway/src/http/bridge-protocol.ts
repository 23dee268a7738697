/**
 * The authority that a client asks to be connected to. CONNECT is used because no MCP client sends it, and because an `Upgrade`
 * that a client offers on its own, such as to HTTP/2, must not be taken for one.
 */
export const bridgeAuthority = 'unfold-stdio:0'

/** Headers of a request to be connected: what an address says in its path and in its query. */
export const bridgeHeaders = { profile: 'unfold-profile', view: 'unfold-view', problem: 'unfold-problem' } as const

/** Sent when the gateway is about to end: the client should ask nothing more here, and connect again. */
export const endingNotice = 'notifications/io.github.unfold-mcp/ending'
