// Preloaded into a command: names resolve as in PUBLIC_NAMES, and connections to 93.184.216.34, a public address, reach this
// machine. So a test server is public for the command.
import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'

const names = JSON.parse(process.env.PUBLIC_NAMES ?? '{}')
const publicAddress = '93.184.216.34'
const { lookup } = dns
const promised = dns.promises.lookup

dns.lookup = (hostname, options, callback) => {
  const address = names[hostname]
  if (address === undefined) return lookup(hostname, options, callback)
  if (options.all) return callback(null, [{ address, family: 4 }])
  return callback(null, address, 4)
}
dns.promises.lookup = async (hostname, options) => {
  const address = names[hostname]
  if (address === undefined) return promised(hostname, options)
  return options.all ? [{ address, family: 4 }] : { address, family: 4 }
}

const here = (address) => (address === publicAddress ? '127.0.0.1' : address)
const connect = Reflect.get(net.Socket.prototype, 'connect')
net.Socket.prototype.connect = function (...args) {
  const options = Array.isArray(args[0]) ? args[0][0] : args[0]
  const own = options.lookup ?? dns.lookup
  if (typeof options === 'object')
    options.lookup = (hostname, wanted, callback) =>
      own(hostname, wanted, (error, found, family) =>
        Array.isArray(found)
          ? callback(
              error,
              found.map((each) => ({ ...each, address: here(each.address) })),
            )
          : callback(error, here(found), family),
      )
  return connect.apply(this, args)
}
syncBuiltinESMExports()
