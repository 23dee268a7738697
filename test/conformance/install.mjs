// Installs the conformance suite and prints the command that starts it, as JSON. The exit code distinguishes an unreachable
// registry from a failed installation.
import { join } from 'node:path'
import { installIsolated, installNode } from '../../scripts/isolated-install.mjs'

const unreachable = 75
const network = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED|ERR_SOCKET_TIMEOUT/

try {
  // The suite needs Node 22 and crashes on older versions without saying so.
  const command = await installNode(22)
  const suite = await installIsolated('.conformance', '@modelcontextprotocol/conformance', '0.2.0-alpha.12')
  console.log(JSON.stringify({ command, script: join(suite, 'dist', 'index.js') }))
} catch (error) {
  console.error(error.message)
  process.exitCode = network.test(error.message) ? unreachable : 1
}
