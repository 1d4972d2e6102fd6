// The worker thread of the product, for servers that have it one after another.

import { KINDS } from '../../../src/work/workers/kinds.ts'
import { serveLent } from './serve-lent.ts'

serveLent(KINDS)
