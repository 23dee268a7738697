// The server of the library, after a while.
await new Promise((resolve) => setTimeout(resolve, Number(process.argv[2])))
await import('./library.mjs')
