// The name that browsers want beside a password, to know whose it is.

import { user } from '../session.ts'

export const UserName = () => (
  <input type="text" name="username" autocomplete="username" value={user.value?.email} hidden readOnly />
)
