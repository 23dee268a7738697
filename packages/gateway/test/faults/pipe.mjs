// Connects its stdin and stdout to a server in another process.
import { connect } from 'node:net'

const [port] = process.argv.slice(2)
const socket = connect(Number(port), '127.0.0.1')
process.stdin.pipe(socket)
socket.pipe(process.stdout)
socket.on('error', () => process.exit(1)).on('close', () => process.exit(0))
