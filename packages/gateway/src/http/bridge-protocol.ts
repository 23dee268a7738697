/**
 * Authority of the CONNECT request. CONNECT is unambiguous: no MCP client sends it, while some offer an `Upgrade` (to HTTP/2) on
 * their own.
 */
export const bridgeAuthority = 'unfold-stdio:0'

/** Headers of the CONNECT request, equivalent to path and query of the MCP endpoint. */
export const bridgeHeaders = { profile: 'unfold-profile', view: 'unfold-view', problem: 'unfold-problem' } as const

/** Sent when the gateway is shutting down: the client should send no more requests here and reconnect. */
export const endingNotice = 'notifications/io.github.unfold-mcp/ending'
