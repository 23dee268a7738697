// Begins to connect to the target given as JSON, and exits when its input ends, however far it got.
import { connect } from '@unfold-mcp/client'

connect(JSON.parse(process.argv[2])).catch(() => undefined)
process.stdin.resume().on('end', () => process.exit(0))
