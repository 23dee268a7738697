// Connects to the server given as arguments, prints its process id and exits without closing.
import { connect } from '@unfold-mcp/client'

const [command, ...args] = process.argv.slice(2)
const connection = await connect({ command, args })
process.stdout.write(String(connection.pid), () => process.exit(0))
