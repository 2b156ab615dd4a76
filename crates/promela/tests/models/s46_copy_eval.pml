chan q = [2] of { byte, byte, byte }; byte a, b = 2, arr[3];
active proctype A() { q!1,2,3; q!2,2,2; q?<a,eval(b),_>; q?a,arr[a],arr[b]; assert(arr[1] == 2 && arr[2] == 3); if :: q?eval(a+1),b,_ :: q?eval(a),_,_ fi; q?[a,b,b] || a == 1 }
