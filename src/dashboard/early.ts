// The small classic script in the page's head: what must not wait for the page's own code, which is a module.

import './early-theme.ts'
import './early-requests.ts'
