// Starts connecting to the target given as JSON and exits when stdin ends.
import { connect } from '@unfold-mcp/client'

connect(JSON.parse(process.argv[2])).catch(() => undefined)
process.stdin.resume().on('end', () => process.exit(0))
