module target

go 1.21
