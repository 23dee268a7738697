import { catalogContract } from '../../test/catalog-contract.ts'
import { memoryCatalog } from './memory.ts'

catalogContract('memory', async () => memoryCatalog())
