import type { Readable, Writable } from 'node:stream'
import { type Channel, Inbox } from './inbox.ts'

/** Channel to a browser started with `--remote-debugging-pipe`: messages end with a zero byte, and no port is opened. */
export function pipeChannel(toBrowser: Writable, fromBrowser: Readable): Channel {
  return {
    listen(sink) {
      const inbox = new Inbox(sink)
      let isOpen = true
      // All errors mean that the pipe is broken.
      const end = (): void => {
        if (isOpen) sink.closed('the browser ended')
        isOpen = false
      }
      fromBrowser.on('data', (chunk: Buffer) => {
        let start = 0
        for (let stop = chunk.indexOf(0); stop !== -1; stop = chunk.indexOf(0, start)) {
          inbox.end(chunk.subarray(start, stop))
          start = stop + 1
        }
        inbox.add(chunk.subarray(start))
      })
      fromBrowser.once('close', end)
      fromBrowser.on('error', end)
      toBrowser.on('error', end)
    },
    send(text) {
      if (toBrowser.writable) toBrowser.write(`${text}\0`)
    },
    close() {
      toBrowser.end()
      fromBrowser.destroy()
    },
  }
}
