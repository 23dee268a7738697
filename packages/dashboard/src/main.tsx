import { render } from 'preact'
import { App } from './app.tsx'
import { live } from './data/stream.ts'

void live.run()
const root = document.querySelector('#app')
if (root !== null) render(<App />, root)
