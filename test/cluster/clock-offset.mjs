// Loaded into a replica before the gateway (`node --import`): its wall clock differs by the milliseconds in the file that
// UNFOLD_TEST_CLOCK names. The monotonic clock is not affected, as on a machine whose time is set.
import { readFileSync } from 'node:fs'

const file = process.env.UNFOLD_TEST_CLOCK
let offset = 0
const read = () => {
  offset = Number(readFileSync(file, 'utf8'))
}
if (file !== undefined) {
  read()
  setInterval(read, 50).unref()
  const RealDate = Date
  const now = () => RealDate.now() + offset
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
    apply: () => new RealDate(now()).toString(),
    get: (target, key, receiver) => (key === 'now' ? now : Reflect.get(target, key, receiver)),
  })
}
