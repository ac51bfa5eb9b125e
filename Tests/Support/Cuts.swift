/// Sizes of the pieces in which a test hands a text to a reader: one byte, primes, and all at once.
package let cutSizes = [1, 2, 3, 5, 7, 11, 4_096]
