// Our gateway, as `unfold serve` starts it: its configuration, the folder for its data, and the port.
import { startGateway } from '@unfold-mcp/gateway'

const [file = '', home = '', port = '0'] = process.argv.slice(2)
const quiet = (): void => undefined
const aloud = (data: object, message: string): void => void process.stderr.write(`${message} ${JSON.stringify(data)}\n`)
const running = await startGateway({
  file,
  home,
  port: Number(port),
  environment: {},
  log: { debug: quiet, info: quiet, warn: quiet, error: aloud },
})

process.once('SIGTERM', () => void running.close().then(() => process.exit(0)))
