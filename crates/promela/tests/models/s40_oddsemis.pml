byte x
#define INC x++
#define TWICE(a) a; a
active proctype A()
{
	if
	:: x == 0 ->
		INC
		INC;
	:: else
	fi
	do
	:: x < 5 -> TWICE(x++)
	:: else break
	od
	{ x = 1 }
	x = 2;;
	L: skip
	atomic { x = 3 } x = 4
	(x == 4) -> x = 5
}
