// Passwords that attackers try first: those of the 10,000 most used that are long enough to be allowed otherwise, in
// lower case. The list is the npm package @zxcvbn-ts/language-common's (see NOTICE), read when a password is set.

/** Whether the password is on the list, in whatever case or width of its letters, or one character over and over. */
export async function isCommonPassword(password: string): Promise<boolean> {
  const { default: text } = await import('./common-passwords.txt', { with: { type: 'text' } })
  // Upper case first, by which letters that are two spellings of one (ſ and s) become the same.
  const plain = password.normalize('NFKC').toUpperCase().toLowerCase()
  return /^(.)\1*$/su.test(plain) || text.split('\n').includes(plain)
}
