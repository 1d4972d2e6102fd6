import { describe, expect, test } from 'bun:test'
import { tokenize } from '../../src/language/1-parse/lexer.ts'
import { format } from '../../src/language/format.ts'

describe('formatting', () => {
  const rows: readonly (readonly [source: string, formatted: string])[] = [
    ['x=1', 'x = 1\n'],
    ['x=f( a ,b=2 )  ', 'x = f(a, b = 2)\n'],
    ['plot (close)\nx = close [ 1 ]', 'plot(close)\nx = close[1]\n'],
    ['if(a)\n\tb:=-1*- 2', 'if (a)\n    b := -1 * -2\n'],
    ['x = a - b\ny = (-a)\nz = not(a)and(b)', 'x = a - b\ny = (-a)\nz = not (a) and (b)\n'],
    ['a?b:c==-1', 'a ? b : c == -1\n'],
    ['f(x)=>x+1', 'f(x) => x + 1\n'],
    ['array< float >a=array.new < float > ( 1 )', 'array<float> a = array.new<float>(1)\n'],
    ['float [] a = b<c', 'float[] a = b < c\n'],
    ['map<string,array<lib . T>>m=na', 'map<string, array<lib.T>> m = na\n'],
    ['import user / lib/ 1 as  x', 'import user/lib/1 as x\n'],
    ['[ a,b ]=f()', '[a, b] = f()\n'],
    ['for[i,x]in xs', 'for [i, x] in xs\n'],
    ['a = 1,b = 2', 'a = 1, b = 2\n'],
    // Comments and lines stay.
    ['// a  \n\n\nx = 1   // b  \n', '// a\n\n\nx = 1   // b\n'],
    ['a=b+\n   c\n\t// d', 'a = b +\n   c\n    // d\n'],
    ['f(\r\n  a,\r\n  b)\r\n', 'f(\n  a,\n  b)\n'],
    ['x = "a  ,b"  +\'c\'', 'x = "a  ,b" + \'c\'\n'],
    ['x = """a  \n  b"""', 'x = """a  \n  b"""\n'],
    // What does not parse is spaced as well, and loses nothing.
    ['x=@ 1', 'x =@ 1\n'],
    ['x=f(a', 'x = f(a\n'],
    ['', ''],
    ['@', '@\n'],
  ]
  for (const [source, formatted] of rows) {
    test(JSON.stringify(source), () => {
      expect(format(source)).toBe(formatted)
      expect(format(formatted)).toBe(formatted)
      expect(tokenize(formatted).tokens.map(({ text }) => text)).toEqual(
        tokenize(source).tokens.map(({ text }) => text),
      )
    })
  }
})
