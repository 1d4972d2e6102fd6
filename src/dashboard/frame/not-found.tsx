// The page for addresses that do not exist.

import { href } from '../router.ts'
import { Page } from './page.tsx'

export const NotFound = () => (
  <Page
    title="There is no such page"
    about="The address may be mistyped, or what it named was deleted."
    narrow
  >
    <a href={href('/')}>To the chart</a>
  </Page>
)
