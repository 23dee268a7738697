// The server of the library with a delayed start.
await new Promise((resolve) => setTimeout(resolve, Number(process.argv[2])))
await import('./library.mjs')
