// A process whose standard input and output are those of a server in another: what it gets it passes on, and what it hears it says.
import { connect } from 'node:net'

const [port] = process.argv.slice(2)
const socket = connect(Number(port), '127.0.0.1')
process.stdin.pipe(socket)
socket.pipe(process.stdout)
socket.on('error', () => process.exit(1)).on('close', () => process.exit(0))
