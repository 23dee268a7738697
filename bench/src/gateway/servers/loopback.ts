// Preloaded into programs that listen on all interfaces: makes them listen on 127.0.0.1 only.
import { type ListenOptions, Server } from 'node:net'

const listen = Reflect.get(Server.prototype, 'listen') as unknown as (...args: unknown[]) => unknown

Server.prototype.listen = function (this: Server, ...args: unknown[]) {
  const [first, ...rest] = args
  if (typeof first !== 'number') return Reflect.apply(listen, this, args) as Server
  const options: ListenOptions = { port: first, host: '127.0.0.1' }
  return Reflect.apply(listen, this, [options, ...rest.filter((each) => typeof each === 'function')]) as Server
}
